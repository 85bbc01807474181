/** Calls of the worker thread by name. Each port declares its own. */
export type CallTypes<C> = { readonly [N in keyof C]: { args: unknown; answer: unknown } };

/** Sends a call to the worker. Rejects with a `CapstanError`. */
export type AskFor<C extends CallTypes<C>> = <N extends keyof C>(
  name: N,
  args: C[N]['args'],
) => Promise<C[N]['answer']>;

/** The worker's handler of each call; `nowMs` is its clock. */
export type Handlers<C extends CallTypes<C>> = {
  readonly [N in keyof C]: (args: C[N]['args'], nowMs: number) => C[N]['answer'];
};
