import { describe, expect, it } from 'vitest';
import { releaseCodes } from '../../../../src/core/publish/approval/approved-plans.ts';

describe('releaseTokens', () => {
  it.each([
    { text: undefined, want: [] },
    { text: '', want: [] },
    { text: ' ,\n', want: [] },
    { text: '0a1b2c3d4e5f', want: ['0a1b2c3d4e5f'] },
    {
      text: '0a1b2c3d4e5f, ffffffffffff\n111111111111 ',
      want: ['0a1b2c3d4e5f', 'ffffffffffff', '111111111111'],
    },
  ])('of $text are $want', ({ text, want }) => {
    expect(releaseCodes({ annotations: text === undefined ? {} : { 'berth.dev/release': text } })).toEqual(
      want,
    );
    expect(releaseCodes({})).toEqual([]);
  });
});
