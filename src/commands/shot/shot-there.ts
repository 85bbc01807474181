import { Readable } from 'node:stream';
import { viewOf } from '../../capture/artifacts/artifacts.ts';
import { codeOf } from '../../capture/basics/error-code.ts';
import { type BatchLine, type CapstanClient, CapstanFailure, createClient } from '../../client/mod.ts';
import { withoutCredentials } from '../../client/service-url.ts';
import type { Server } from '../own-service.ts';
import { whileAnswering } from '../while-answering.ts';
import type { Capturing, ShotOutcome } from './shot-files.ts';

/** Has a service capture pages. `needsEvidence`: it is read for each capture, else for partial ones alone. */
export function captureThere(
  requests: readonly { readonly url: string }[],
  { url, apiKey }: Server,
  { concurrency, needsEvidence }: { readonly concurrency: number | undefined; readonly needsEvidence: boolean },
): Capturing {
  return async (_logger, { signal }, each) => {
    const client = createClient({ baseUrl: url, ...(apiKey !== undefined && { apiKey }) });
    try {
      await whileAnswering(url, signal, async (until) => {
        const options = { signal: until, ...(concurrency !== undefined && { concurrency }) };
        for await (const line of client.batch(requests, options)) {
          await each(await outcomeOf(line, client, needsEvidence, until));
        }
      });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof CapstanFailure)) throw error;
      throw new Error(`${withoutCredentials(url)}: ${tell(error)}`, { cause: error });
    }
  };
}

export function tell({ message, problems, cause }: CapstanFailure): string {
  const reason = reasonOf(cause);
  const whole = reason === undefined ? message : `${message.replace(/\.$/, '')}: ${reason}`;
  return [whole, ...problems.map(({ path, message: problem }) => `${path} ${problem}`)].join('; ');
}

/** Returns the text of the innermost cause: `fetch failed` says nothing, the error below it does. */
function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // OpenSSL's message names the line of its source.
  if ('library' in error && 'reason' in error) return `${error.library}: ${error.reason}`;
  // An error about several addresses of a host has a code and no message.
  return reasonOf(error.cause) ?? (error.message || codeOf(error));
}

async function outcomeOf(
  { index, url, result, code, error }: BatchLine,
  client: CapstanClient,
  needsEvidence: boolean,
  signal: AbortSignal,
): Promise<ShotOutcome> {
  if (result === null || code !== null)
    return { index, url, failure: { code: code ?? 'internal', reason: error ?? '' } };
  const { evidence } =
    needsEvidence || result.partial ? await client.result(result.id, { signal }) : { evidence: null };
  return {
    index,
    url,
    capture: {
      result,
      evidence,
      outputs: result.outputs.filter(({ path }) => path !== '').map(({ name }) => name),
      open: async (kind) => {
        const { body } = await client.image(result.id, { view: viewOf(kind), signal });
        return body === null ? Readable.from([]) : Readable.fromWeb(body);
      },
    },
  };
}
