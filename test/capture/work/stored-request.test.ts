import { describe, expect, it } from 'vitest';
import { requestFromStore, requestToStore } from '../../../src/capture/work/stored-request.ts';
import { captureRequest } from '../../support/capture-request.ts';

describe('requestFromStore', () => {
  it('reads back the request that requestToStore wrote', () => {
    const request = captureRequest('example.com:8443/a?b=1', { format: 'pdf', pdf: { landscape: true } });
    expect(requestFromStore(JSON.parse(JSON.stringify(requestToStore(request))))).toEqual(request);
  });
});
