/*
 * Captures pages in a program of its own, without a server; the screenshots are under data/.
 *
 *   node examples/embed.ts <url>...
 */
import { captureRequest, createService } from 'capstan';

// What is not public is refused, unless it is named.
const service = await createService({ dbPath: 'results.db', allowTargets: ['127.0.0.1'] });
service.events$.subscribe((event) => {
  if (event.type === 'capture.started') console.log(`capturing ${event.url}`);
});

for (const url of process.argv.slice(2)) {
  await service.submit(captureRequest(url, { format: 'webp', fullPage: true })).forEach((outcome) => {
    if (outcome.state === 'stored') console.log(`stored ${outcome.result.id}: ${outcome.result.title}`);
    else console.log(`${outcome.state}: ${outcome.failure.reason}`);
  });
}
await service.stop();
