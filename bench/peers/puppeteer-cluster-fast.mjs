import { clusterDriver } from './puppeteer-cluster.mjs';

export const open = clusterDriver({ optimizeForSpeed: true });
