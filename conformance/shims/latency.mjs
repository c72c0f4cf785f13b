export async function latency() {}
