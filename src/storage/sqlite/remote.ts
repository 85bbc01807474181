/** A port as the worker implements it: each method returns what the port's method resolves with. */
export type Synchronous<P> = {
  readonly [M in keyof P]: P[M] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never;
};

/** A table of the worker as the service's thread calls it. A generator's return value is its answer. */
export type Remote<T> = {
  readonly [M in keyof T]: T[M] extends (...args: infer A) => infer R ? (...args: A) => Promise<AnswerOf<R>> : never;
};

type AnswerOf<R> = R extends Generator<unknown, infer A> ? A : R;
