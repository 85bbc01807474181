import { describe, expect, it } from 'vitest';
import { readSecret, signatures } from '../../src/receivers/transports/signature.ts';
import { SECRET } from './receiver.ts';

/** The test vector of the reference libraries: https://github.com/standard-webhooks/standard-webhooks. */
const VECTOR = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' };
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

describe('signatures of webhooks', () => {
  it('computes the signatures of the Standard Webhooks libraries', () => {
    expect(signatures([readSecret(SECRET)], VECTOR)).toBe(SIGNATURE);
  });

  it('computes one signature per key while a secret is rotated', () => {
    const [first, second, ...rest] = signatures([Buffer.alloc(24, 1), readSecret(SECRET)], VECTOR).split(' ');
    expect(first).toMatch(/^v1,.{44}$/);
    expect([second, ...rest]).toEqual([SIGNATURE]);
  });
});
