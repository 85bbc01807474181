/** What every bench is told. */
export interface BenchOptions {
  readonly browserPath: string;
  readonly rounds: number;
  /** Captures of one round. */
  readonly captures: number;
  /** Captures over which memory is watched. */
  readonly memoryCaptures: number;
  /** Results in the store that is asked by host. */
  readonly storedResults: number;
  /** Another checkout, to compare with. */
  readonly checkout: string | undefined;
  readonly concurrencies: readonly number[];
  /** Results. */
  readonly print: (text: string) => void;
  /** Progress. */
  readonly report: (line: string) => void;
}
