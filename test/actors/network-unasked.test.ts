import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { CdpConnection } from '../../src/cdp/connection.ts';
import { prepareVisit } from '../../src/page/prepare-visit.ts';
import { captureRequest } from '../support/capture-request.ts';

it('sends no commands to the browser for emulation and network options that a request does not use', async () => {
  const toBrowser = new PassThrough();
  const session = new CdpConnection(toBrowser, new PassThrough()).session('page');
  await prepareVisit(session, captureRequest('https://example.com/')).ready;
  session.post('Page.enable');
  await Promise.resolve();
  expect(String(toBrowser.read())).toMatch(/^\{"id":1,"method":"Page.enable"/);
});
