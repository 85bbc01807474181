/** Returns what this world keeps under a name, and makes it at first. Other scripts of the world share it. */
export function kept<T>(name: string, make: () => T): T {
  const key = Symbol.for(`capstan-${name}`);
  const world = globalThis as unknown as Record<symbol, T | undefined>;
  world[key] ??= make();
  return world[key];
}
