/** Resolves with whether a value is truthy. A function is called, a promise awaited; an exception counts as false. */
export async function run(evaluated: () => unknown): Promise<boolean> {
  try {
    const value = evaluated();
    return Boolean(await (typeof value === 'function' ? value() : value));
  } catch {
    return false;
  }
}
