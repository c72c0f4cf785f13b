export async function cross() {}
