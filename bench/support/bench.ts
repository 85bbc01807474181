/** Settings of every bench. */
export interface BenchOptions {
  readonly browserPath: string;
  readonly rounds: number;
  /** Captures per round. */
  readonly captures: number;
  /** Number of results in the store that is queried: SQLite, and MongoDB, in which seeding takes longer. */
  readonly storedResults: number;
  readonly storedInMongo: number;
  /** Another checkout to compare with. */
  readonly checkout: string | undefined;
  /** Where the service that is measured keeps its data: `sqlite`, `mongo`, or `cluster`, for an api node. */
  readonly on: readonly string[] | undefined;
  /** Parts of a bench that has some: `fields`, `lists`, `pages`. */
  readonly only: readonly string[];
  /** A folder of pages that benches of what pages say read. */
  readonly pagesFolder: string | undefined;
  readonly concurrencies: readonly number[];
  /** Prints a line of the results. */
  readonly print: (text: string) => void;
  /** Prints a line of progress. */
  readonly report: (line: string) => void;
}
