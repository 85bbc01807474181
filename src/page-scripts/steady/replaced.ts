/** The members of the page's own window that scripts here replace, which scripts of the page call as they like. */
export const own = globalThis as unknown as {
  Date: DateConstructor;
  setTimeout: SetTimer;
  setInterval: SetTimer;
  readonly clearInterval: (id: number) => void;
  requestAnimationFrame: (run: (time: number) => void) => number;
  readonly crypto?: object;
  readonly Crypto: { readonly prototype: RandomSource };
};

/** `run` may be source text. */
type SetTimer = (run: string | ((...given: unknown[]) => unknown), ms?: number, ...given: unknown[]) => number;

interface RandomSource {
  getRandomValues(array: ArrayBufferView): ArrayBufferView;
  randomUUID(): string;
}
