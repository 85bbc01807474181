import { startSite } from '../../test/fixtures/site.ts';

/* Serves the fixture site from a process of its own, so that its CPU time is not measured. Ends with its parent. */

const site = await startSite();
process.send?.(site.origin);
process.on('disconnect', () => void site.close());
