import { Readable } from 'node:stream';
import { exportScan, type ScannedFailure, type ScannedPage } from '../../archive/export-scan.ts';
import type { CapstanClient } from '../../client/mod.ts';

/** Writes the outcomes of a scan that has ended to a folder of pages, and says so. */
export async function writeReport(
  client: CapstanClient,
  id: string,
  directory: string,
  signal: AbortSignal,
): Promise<void> {
  async function* outcomes(): AsyncGenerator<ScannedPage | ScannedFailure, void, undefined> {
    for await (const { url, result, code, error, same_as: sameAs } of client.outcomes(id, { signal })) {
      if (result === null || code !== null) {
        yield { url, code: code ?? 'internal', reason: error ?? '', capture: result?.id };
      } else yield { result, sameAs };
    }
  }
  const openImage = async (capture: number): Promise<Readable> => {
    const { body } = await client.image(capture, { signal });
    return body === null ? Readable.from([]) : Readable.fromWeb(body);
  };
  const evidenceOf = async (capture: number) => (await client.result(capture, { signal })).evidence;
  const { captures, pages } = await exportScan(outcomes(), { evidenceOf, openImage }, directory).catch((error) => {
    if (signal.aborted) process.stderr.write(`stopped; the report in ${directory} is not complete\n`);
    throw error;
  });
  process.stderr.write(
    `report of ${captures} captures on ${pages} ${pages === 1 ? 'page' : 'pages'}: ${directory}/index.html\n`,
  );
}
