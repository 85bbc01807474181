import { describe, expect, it } from 'vitest';
import { requestFromStore, requestToStore } from '../../src/capture/stored-request.ts';
import { captureRequest } from '../support/capture-request.ts';

describe('requestFromStore', () => {
  it('reads back the request that requestToStore wrote', () => {
    const request = captureRequest('example.com:8443/a?b=1', { format: 'pdf', pdf: { landscape: true } });
    expect(requestFromStore(JSON.parse(JSON.stringify(requestToStore(request))))).toEqual(request);
  });

  it('completes a request of version 0.1 with the defaults', () => {
    const stored = {
      url: 'https://example.com/',
      fullPage: true,
      format: 'png',
      quality: 80,
      timeoutMs: 5000,
    } as const;
    expect(requestFromStore(stored)).toEqual(
      captureRequest('https://example.com/', { fullPage: true, timeoutMs: 5000 }),
    );
  });
});
