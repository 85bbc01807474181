/** Returns a function that calls `back` the first time that it is called. */
export function once(back: () => void): () => void {
  let isDue = true;
  return () => {
    if (!isDue) return;
    isDue = false;
    back();
  };
}
