// mem0-code in OpenCode. One default export for both generations of the plugin API: `server` is called by 1.x, `setup` by
// 2.x. Both translate the host's events for the native binary, which decides.

import type { PluginModule } from "@opencode-ai/plugin";

import { server } from "./server.ts";
import { setup } from "./setup.ts";

export default { id: "mem0", server, setup } satisfies PluginModule & { setup: typeof setup };
