import { serveStub, storedAtOnce } from './stub-service.ts';

/* The stub service as a process of its own: a capture is stored as soon as it starts. Ends with its parent. */

const LIMITS = { maxConcurrent: 16, maxQueue: 1000 };

const stub = await serveStub({ limits: LIMITS, perform: (command) => Promise.resolve(storedAtOnce(command)) });
process.once('disconnect', () => stub.stop());
// Only the IPC channel keeps the process alive.
process.channel?.ref();
console.log(stub.address);
