import { expect, it } from 'vitest';
import { addHoldReasons, type Hold } from '../../../../src/core/publish/judge/judge-result.ts';

const PROBLEM = 'The only cluster would be removed: c1.';
const REMEDY = 'To approve this change, run: berth release shop/web --token abc';
const hold = (over: Partial<Hold>): Hold => ({
  ...{ kind: 'held', reason: 'WouldEmpty', added: [], removed: ['c1'], code: 'abc' },
  message: `${PROBLEM} ${REMEDY}`,
  remedy: REMEDY,
  ...over,
});
const BECAUSE = [{ because: 'lacks label tier=gold', clusters: ['c1'] }];
const WHY = 'Why: c1 (lacks label tier=gold).';

it.each([
  { name: 'stands before what the user can do', given: hold({}), want: `${PROBLEM} ${WHY} ${REMEDY}` },
  {
    name: 'ends a message without a remedy',
    given: hold({ message: PROBLEM, remedy: undefined }),
    want: `${PROBLEM} ${WHY}`,
  },
])('the reason of a hold $name', ({ given, want }) => {
  expect(addHoldReasons(given, () => BECAUSE).message).toBe(want);
});
