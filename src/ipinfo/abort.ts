/** Waits for `work` until `signal` is aborted; then rejects with the signal's reason. */
export function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => reject(signal?.reason);
    if (signal?.aborted === true) leave();
    signal?.addEventListener('abort', leave, { once: true });
    work.then(
      (value) => {
        signal?.removeEventListener('abort', leave);
        resolve(value);
      },
      (error: unknown) => {
        signal?.removeEventListener('abort', leave);
        reject(error);
      },
    );
  });
}
