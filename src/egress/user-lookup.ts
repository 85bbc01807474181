/** One end of a TCP connection over IPv4. */
export interface Connection {
  readonly address: string;
  readonly port: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** A way to find the user of a connection. */
export interface UserLookup {
  /**
   * Resolves with the id of the user who opened this end of an established connection; null when the user is unknown,
   * for example because this end is already closed.
   */
  userOf(connection: Connection): Promise<number | null>;
  close(): void;
}
