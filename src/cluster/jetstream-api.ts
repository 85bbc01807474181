import { JetStreamApiError, type JetStreamManager, jetstreamManager, type StreamConfig } from '@nats-io/jetstream';
import type { Link } from './connection.ts';

/** Time limit for an answer of JetStream, in milliseconds. */
export const API_TIMEOUT_MS = 5_000;

/** Error codes of JetStream. */
const STREAM_EXISTS = 10058;
export const NOT_FOUND: readonly number[] = [10059, 10014];

export function isCode(error: unknown, codes: readonly number[]): boolean {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}

/** Asks JetStream's management API. Rejects with an `AwayError` while NATS is away. */
export function manage<T>(link: Link, work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
  return link.with(async (connection) =>
    work(await jetstreamManager(connection, { checkAPI: false, timeout: API_TIMEOUT_MS })),
  );
}

/** Creates a stream. An existing one is not changed. */
export async function ensureStream(
  link: Link,
  config: Partial<StreamConfig> & { readonly name: string },
): Promise<void> {
  try {
    await manage(link, ({ streams }) => streams.info(config.name));
  } catch (error) {
    if (!isCode(error, NOT_FOUND)) throw error;
    await manage(link, ({ streams }) => streams.add(config)).catch((problem: unknown) => {
      // Another process has created the stream meanwhile.
      if (!isCode(problem, [STREAM_EXISTS])) throw problem;
    });
  }
}
