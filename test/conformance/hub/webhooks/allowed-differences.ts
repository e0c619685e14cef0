import type { StepResult } from './scenario.ts';

export interface Difference {
  readonly why: string;
  /** What this hub answers instead. */
  readonly answer: Partial<StepResult>;
}

/** By scenario and number of the step. */
export const ALLOWED_DIFFERENCES: Readonly<Record<string, Readonly<Record<number, Difference>>>> = {
  'conversion: a webhook that is out of order': {
    7: {
      why: 'A deletion needs no webhook here: what cannot be converted any more can still go.',
      answer: {
        status: 200,
        body: {
          apiVersion: 'v1',
          details: { group: 'ships.example.com', kind: 'boats', name: 'ada', uid: 'UID' },
          kind: 'Status',
          metadata: {},
          status: 'Success',
        },
      },
    },
  },
  'admission: a patch that changes what may not be changed': {
    4: {
      why: 'The sentence about a patch that does not apply is that of the library for JSON patches.',
      answer: {
        body: {
          apiVersion: 'v1',
          code: 500,
          details: {
            causes: [{ message: 'the server rejected our request due to an error in our request' }],
          },
          kind: 'Status',
          message: 'Internal error occurred: the server rejected our request due to an error in our request',
          metadata: {},
          reason: 'InternalError',
          status: 'Failure',
        },
      },
    },
  },
};
