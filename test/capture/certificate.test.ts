import { describe, expect, it } from 'vitest';
import { boundedChain, readCertificate } from '../../src/capture/result/certificate.ts';

/** A certificate for 120 names, in Base64 (DER). */
const OF_MANY_NAMES = `
MIIGPzCCBeSgAwIBAgIUWub6ShDqgUSQMGh/zMx701DLbKYwCgYIKoZIzj0EAwIwRzFFMEMGA1UEAww8bm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5u
bm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5uMCAXDTI2MTIwMTAyMDE1NloYDzIxMjYxMTA3MDIwMTU2WjBHMUUwQwYDVQQDDDxu
bm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm4wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AATae4rePgKQ2cPEs0/QEE46IseJr5s+mWeJcKUZJapCY4fkHdlx7UoGyUrxfjJ1DAUfj+0THYZWMt7VvF2dl0gMo4IEqjCCBKYwHQYDVR0OBBYE
FDT0i8KcmF8I6k524i+8JJyg13GJMB8GA1UdIwQYMBaAFDT0i8KcmF8I6k524i+8JJyg13GJMA8GA1UdEwEB/wQFMAMBAf8wggRRBgNVHREEggRI
MIIERIIGMS50ZXN0ggYyLnRlc3SCBjMudGVzdIIGNC50ZXN0ggY1LnRlc3SCBjYudGVzdIIGNy50ZXN0ggY4LnRlc3SCBjkudGVzdIIHMTAudGVz
dIIHMTEudGVzdIIHMTIudGVzdIIHMTMudGVzdIIHMTQudGVzdIIHMTUudGVzdIIHMTYudGVzdIIHMTcudGVzdIIHMTgudGVzdIIHMTkudGVzdIIH
MjAudGVzdIIHMjEudGVzdIIHMjIudGVzdIIHMjMudGVzdIIHMjQudGVzdIIHMjUudGVzdIIHMjYudGVzdIIHMjcudGVzdIIHMjgudGVzdIIHMjku
dGVzdIIHMzAudGVzdIIHMzEudGVzdIIHMzIudGVzdIIHMzMudGVzdIIHMzQudGVzdIIHMzUudGVzdIIHMzYudGVzdIIHMzcudGVzdIIHMzgudGVz
dIIHMzkudGVzdIIHNDAudGVzdIIHNDEudGVzdIIHNDIudGVzdIIHNDMudGVzdIIHNDQudGVzdIIHNDUudGVzdIIHNDYudGVzdIIHNDcudGVzdIIH
NDgudGVzdIIHNDkudGVzdIIHNTAudGVzdIIHNTEudGVzdIIHNTIudGVzdIIHNTMudGVzdIIHNTQudGVzdIIHNTUudGVzdIIHNTYudGVzdIIHNTcu
dGVzdIIHNTgudGVzdIIHNTkudGVzdIIHNjAudGVzdIIHNjEudGVzdIIHNjIudGVzdIIHNjMudGVzdIIHNjQudGVzdIIHNjUudGVzdIIHNjYudGVz
dIIHNjcudGVzdIIHNjgudGVzdIIHNjkudGVzdIIHNzAudGVzdIIHNzEudGVzdIIHNzIudGVzdIIHNzMudGVzdIIHNzQudGVzdIIHNzUudGVzdIIH
NzYudGVzdIIHNzcudGVzdIIHNzgudGVzdIIHNzkudGVzdIIHODAudGVzdIIHODEudGVzdIIHODIudGVzdIIHODMudGVzdIIHODQudGVzdIIHODUu
dGVzdIIHODYudGVzdIIHODcudGVzdIIHODgudGVzdIIHODkudGVzdIIHOTAudGVzdIIHOTEudGVzdIIHOTIudGVzdIIHOTMudGVzdIIHOTQudGVz
dIIHOTUudGVzdIIHOTYudGVzdIIHOTcudGVzdIIHOTgudGVzdIIHOTkudGVzdIIIMTAwLnRlc3SCCDEwMS50ZXN0gggxMDIudGVzdIIIMTAzLnRl
c3SCCDEwNC50ZXN0gggxMDUudGVzdIIIMTA2LnRlc3SCCDEwNy50ZXN0gggxMDgudGVzdIIIMTA5LnRlc3SCCDExMC50ZXN0gggxMTEudGVzdIII
MTEyLnRlc3SCCDExMy50ZXN0gggxMTQudGVzdIIIMTE1LnRlc3SCCDExNi50ZXN0gggxMTcudGVzdIIIMTE4LnRlc3SCCDExOS50ZXN0gggxMjAu
dGVzdDAKBggqhkjOPQQDAgNJADBGAiEA4+FIeSd30XfDxWUqSGCed636r4esRt3D5XVtUkCTkDYCIQCY1ZmOtmW9Z+9XuGBqao9EvQPoUbwXww6T
uttIoIyGow==
`;

describe('what is kept of a certificate', () => {
  it('has at most 100 names', () => {
    const names = readCertificate(Buffer.from(OF_MANY_NAMES, 'base64'))?.names ?? [];
    expect([names.length, names[0], names.at(-1)]).toEqual([100, '1.test', '100.test']);
  });

  it('is a chain of at most 10 certificates, with 48 KiB in all', () => {
    expect(boundedChain(Array.from({ length: 12 }, () => 'x'))).toHaveLength(10);
    // 48 KiB are 64 Ki characters of Base64.
    const large = 'x'.repeat(16 * 1024);
    expect(boundedChain(Array.from({ length: 10 }, () => large))).toHaveLength(4);
  });
});
