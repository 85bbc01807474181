import { createHmac } from 'node:crypto';

/*
 * Signs a link to GET /screenshot for an hour: node examples/sign-link.ts '/screenshot?url=https%3A%2F%2Fexample.com'
 */

const [target = ''] = process.argv.slice(2);
const key = process.env.CAPSTAN_SIGNING_KEY ?? '';

const signed = `${target}&expires=${Math.floor(Date.now() / 1000) + 3600}`;
const signature = createHmac('sha256', key).update(signed).digest('hex');
console.log(`${signed}&signature=${signature}`);
