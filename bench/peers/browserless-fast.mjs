import { browserlessDriver } from './browserless.mjs';

export const open = browserlessDriver({ waitUntil: 'load', adblock: false }, { optimizeForSpeed: true });
