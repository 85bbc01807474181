import { startSite } from '../../test/fixtures/site.ts';
import { startGallery } from './gallery.ts';
import type { BenchOrigins } from './site.ts';

/* Serves the pages from a process of its own, so that its CPU time is not measured. Ends with its parent. */

const site = await startSite();
const gallery = await startGallery();
process.send?.({ site: site.origin, http: gallery.http, https: gallery.https } satisfies BenchOrigins);
process.on('disconnect', () => process.exit());
