import { describe, expect, it } from 'vitest';
import { tokenInfrastructure } from '../../../src/rules/addons/addon-token.ts';

describe('tokenInfrastructure', () => {
  const condition = (status: 'True' | 'False', message: string) => [
    { type: 'TokenInfrastructureReady', status, reason: 'R', message },
  ];
  it.each([
    { name: 'no condition', given: undefined, want: { kind: 'waiting' } },
    { name: 'not yet', given: condition('False', 'x (UID: u) y'), want: { kind: 'waiting' } },
    {
      name: 'ready',
      given: condition('True', 'ServiceAccount a/b-agent (UID: 1-2) is ready'),
      want: { kind: 'ready', accountUid: '1-2' },
    },
    {
      name: 'without a UID',
      given: condition('True', 'ready'),
      want: { kind: 'malformed', why: 'ServiceAccount UID not found in message: ready' },
    },
    {
      name: 'with half a UID',
      given: condition('True', 'UID: 1'),
      want: { kind: 'malformed', why: 'malformed ServiceAccount UID in message: UID: 1' },
    },
    {
      name: 'with an empty UID',
      given: condition('True', '(UID: )'),
      want: { kind: 'malformed', why: 'empty ServiceAccount UID in message: (UID: )' },
    },
  ])('$name', ({ given, want }) => expect(tokenInfrastructure(given)).toEqual(want));
});
