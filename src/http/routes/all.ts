import type { OperationsContext, Route } from '../route.ts';
import { captureByQuery } from './capture/capture-by-query.ts';
import { postBatch } from './capture/post-batch.ts';
import { postScan } from './capture/post-scan.ts';
import { postScreenshot } from './capture/post-screenshot.ts';
import { postStability } from './capture/post-stability.ts';
import { getCaptures } from './captures-in-flight.ts';
import { getComparison } from './compare.ts';
import { getEvents } from './events.ts';
import { exportResults } from './export.ts';
import { deleteFeed, getFeeds, postFeed } from './feeds.ts';
import { getGroups } from './groups.ts';
import { deleteJob, getJob, getJobs } from './jobs.ts';
import { getLabels } from './labels.ts';
import { getPressure, patchLimits } from './limits.ts';
import { patchResults, patchScreenshot } from './marks.ts';
import { postMcp } from './mcp.ts';
import { getMetrics } from './metrics.ts';
import { getShared, getSharedPart } from './open-share.ts';
import {
  getAnyReadiness,
  getLiveness,
  getOpenApi,
  getReadiness,
  getReadReadiness,
  getStats,
  getStatsHistory,
} from './operations.ts';
import { ackQuery, deleteQuery, getNext, getQueries, getQuery, postQuery } from './queries.ts';
import { getFeed } from './read-feed.ts';
import {
  deleteReceiver,
  getDeadLetters,
  getReceiver,
  getReceivers,
  postReceiver,
  retryDeadLetter,
  retryDeadLetters,
  testReceiver,
} from './receivers.ts';
import { getResult, getResults, getResultsByHost, getResultsByUrl, getSimilarResults } from './results.ts';
import { getScreenshots } from './screenshot-list.ts';
import { deleteSession, getSession, postSession } from './session.ts';
import { deleteShare, getShares, postShare } from './shares.ts';
import { getStart } from './start.ts';
import { deleteScreenshot, getScreenshot } from './stored-screenshot.ts';
import {
  deleteWatch,
  getWatch,
  getWatches,
  getWatchHistory,
  getWatchValues,
  patchWatch,
  pauseWatch,
  postWatch,
  resumeWatch,
  runWatch,
} from './watches.ts';

/** Every route, in the order of the OpenAPI document. The first route that matches a request answers it. */
export const ROUTES: readonly Route[] = [
  postScreenshot,
  captureByQuery,
  postBatch,
  postMcp,
  getScreenshot,
  patchScreenshot,
  deleteScreenshot,
  postShare,
  getShares,
  deleteShare,
  getShared,
  getSharedPart,
  getScreenshots,
  getComparison,
  postStability,
  getCaptures,
  getJobs,
  getJob,
  deleteJob,
  postScan,
  postWatch,
  getWatches,
  getWatch,
  patchWatch,
  deleteWatch,
  getWatchHistory,
  getWatchValues,
  pauseWatch,
  resumeWatch,
  runWatch,
  getResults,
  patchResults,
  getResultsByUrl,
  getResultsByHost,
  getSimilarResults,
  exportResults,
  getGroups,
  getResult,
  postFeed,
  getFeeds,
  getFeed,
  deleteFeed,
  getLabels,
  getEvents,
  postQuery,
  getQueries,
  getQuery,
  getNext,
  ackQuery,
  deleteQuery,
  postReceiver,
  getReceivers,
  getReceiver,
  deleteReceiver,
  testReceiver,
  getDeadLetters,
  retryDeadLetters,
  retryDeadLetter,
  getStart,
  getLiveness,
  getReadiness,
  getReadReadiness,
  getAnyReadiness,
  getStats,
  getStatsHistory,
  getMetrics,
  getPressure,
  patchLimits,
  getSession,
  postSession,
  deleteSession,
  getOpenApi,
];

/** The routes of a worker of a cluster, which answers no clients. */
export const WORKER_ROUTES: readonly Route<OperationsContext>[] = [
  getLiveness,
  getReadiness,
  getStats,
  getMetrics,
  getPressure,
];
