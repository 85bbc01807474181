/*
 * Captures pages with Capstan as a library, without a server. The screenshots are stored under data/.
 *
 *   node examples/embed.ts <url>...
 */
import { captureRequest, createService } from 'capstan';

// Private addresses are refused unless they are allowed here.
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
