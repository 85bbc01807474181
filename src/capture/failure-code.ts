import { z } from 'zod';
import { CATALOGUE, type FailureCode } from './errors.ts';

export const FailureCodeSchema = z.enum(Object.keys(CATALOGUE).filter(isFailureCode));

function isFailureCode(text: string): text is FailureCode {
  return Object.hasOwn(CATALOGUE, text);
}
