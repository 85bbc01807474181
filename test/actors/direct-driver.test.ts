import { describeDriver } from './driver-suite.ts';

describeDriver('the direct driver', {});
