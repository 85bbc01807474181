import { startSite } from '../../test/fixtures/site.ts';

/* The fixture site in a process of its own, so that its work is nobody's CPU time. Ends with its parent. */

const site = await startSite();
process.send?.(site.origin);
process.on('disconnect', () => void site.close());
