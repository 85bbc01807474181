/** Settings of every bench. */
export interface BenchOptions {
  readonly browserPath: string;
  readonly rounds: number;
  /** Captures per round. */
  readonly captures: number;
  /** Captures over which memory is watched. */
  readonly memoryCaptures: number;
  /** Results in the store that is queried by host. */
  readonly storedResults: number;
  /** Another checkout to compare with. */
  readonly checkout: string | undefined;
  readonly concurrencies: readonly number[];
  /** Prints a line of the results. */
  readonly print: (text: string) => void;
  /** Prints a line of progress. */
  readonly report: (line: string) => void;
}
