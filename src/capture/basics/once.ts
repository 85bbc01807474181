/** Returns a function that calls `back` the first time that it is called. */
export function once(back: () => void): () => void {
  let isDue = true;
  return () => {
    if (!isDue) return;
    isDue = false;
    back();
  };
}

/** Returns a function that does the work when it is first called; later calls share the result, unless it failed. */
export function whenFirstAsked<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}
