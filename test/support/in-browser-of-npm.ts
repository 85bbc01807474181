import { useBrowserOfNpm } from './browser-of-npm.ts';

await useBrowserOfNpm();
