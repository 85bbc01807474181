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

/** Self-signed certificates for `/C=GB/O=Harbour Trust, Inc./CN=R1`, and for `/O=Harbour Trust, Inc.`. */
const OF_AN_ORGANISATION = `
MIIBxzCCAW2gAwIBAgIUbKMTSy0/sMO9CJ6NSnwjrMdZbz0wCgYIKoZIzj0EAwIwODELMAkGA1UEBhMCR0IxHDAaBgNVBAoME0hhcmJvdXIgVHJ1c3Qs
IEluYy4xCzAJBgNVBAMMAlIxMCAXDTI2MTIwMTA1MTk0OFoYDzIxMjYxMTA3MDUxOTQ4WjA4MQswCQYDVQQGEwJHQjEcMBoGA1UECgwTSGFyYm91ciBU
cnVzdCwgSW5jLjELMAkGA1UEAwwCUjEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR9sBvQttXOE+D8OMua42tXRMVVIXz2ZNPydD0ZBSzJlzCkGCt3
G/EgkL4cjl8G9kfAbByfdITZn5/8igehng+Qo1MwUTAdBgNVHQ4EFgQUOYh1A+sEyf2FvRmQ9D9NW4eHtfswHwYDVR0jBBgwFoAUOYh1A+sEyf2FvRmQ
9D9NW4eHtfswDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAsMrscUUKknFIiy9+KxwzVDXJ61t0bepWGZDPS0DAZ7QCIHE/fGpuHElc
Xxk/JB/TVg9XCNU+rLW/e5fEAsln3qYE
`;
const WITHOUT_COMMON_NAME = `
MIIBkzCCATmgAwIBAgIUW44BH5fTlBDhKkX4fah8QERTRsUwCgYIKoZIzj0EAwIwHjEcMBoGA1UECgwTSGFyYm91ciBUcnVzdCwgSW5jLjAgFw0yNjEy
MDEwNTE5NDhaGA8yMTI2MTEwNzA1MTk0OFowHjEcMBoGA1UECgwTSGFyYm91ciBUcnVzdCwgSW5jLjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAYo
AFT/RQLfHoDi+xUmCl8mx3Ii198fC3GHPNPyilFrRzmyIuXFraqHcsBN9NZCkbLBQwSSZ1YsQ/SzqkZ5/bSjUzBRMB0GA1UdDgQWBBSGSkatmAdx7fg7
C7X4hLJHciztmzAfBgNVHSMEGDAWgBSGSkatmAdx7fg7C7X4hLJHciztmzAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIDxzZFo10tij
a7MxCwtx8pDLeEUGZ0Dc/PcC7qDMKKzcAiEA2OCMlb0TFZeISrfdsLMqO1++jwjQW9GUNGT7ERNBq4g=
`;

describe('what is kept of a certificate', () => {
  it("has the issuer's organisation beside its common name, which says little: Let's Encrypt is `R11`", () => {
    const namesIn = (text: string) => {
      const certificate = readCertificate(Buffer.from(text, 'base64'));
      return [certificate?.subject, certificate?.issuer];
    };
    expect(namesIn(OF_AN_ORGANISATION)).toEqual(['R1', 'R1 (Harbour Trust, Inc.)']);
    expect(namesIn(WITHOUT_COMMON_NAME)).toEqual(['Harbour Trust, Inc.', 'Harbour Trust, Inc.']);
  });

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
