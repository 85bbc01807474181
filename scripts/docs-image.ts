import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { lastValueFrom } from 'rxjs';
import sharp from 'sharp';
import { captureRequest, createService } from '../src/mod.ts';
import { startSite } from '../test/fixtures/site.ts';

/* Takes the screenshot in the README from the sample site, with the service itself. */

const OUTPUT = join(import.meta.dirname, '../docs/images/sample-capture.png');
const PAGE = process.argv[2] ?? '/timetable';
/** Colours of the PNG: enough for a page with few colours, at a quarter of the file size. */
const COLOURS = 128;

const dataDir = await mkdtemp(join(tmpdir(), 'capstan-docs-'));
const site = await startSite();
const service = await createService({ dataDir, allowTargets: [site.host] });
try {
  const viewport = { width: 800, height: 500, deviceScaleFactor: 1 };
  const outcome = await lastValueFrom(service.submit(captureRequest(site.url(PAGE), { viewport })));
  if (outcome.state !== 'stored') throw new Error(outcome.failure.reason);
  const image = await service.artifacts.open(outcome.result.id, 'image');
  if (image === undefined) throw new Error(`the image of capture ${outcome.result.id} is missing`);
  const { size } = await sharp(await buffer(image.stream()))
    .png({ palette: true, colours: COLOURS, dither: 0, compressionLevel: 9 })
    .toFile(OUTPUT);
  process.stdout.write(`${OUTPUT}: ${size} bytes\n`);
} finally {
  await service.stop();
  await site.close();
  await rm(dataDir, { recursive: true, force: true });
}
