// Built from shims/ of mem0-code by `npm run build`; not edited by hand.
