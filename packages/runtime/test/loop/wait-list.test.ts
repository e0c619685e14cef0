import { expect, it } from 'vitest';
import { WaitList } from '../../src/loop/sleep.ts';
import { settle } from '@berth/test-kit/fake-clock';

it('lets each wait for its own reason, and for no longer than its signal', async () => {
  const list = new WaitList();
  const stop = new AbortController();
  const over: string[] = [];
  let count = 0;
  const wait = (name: string, isSo: () => boolean, signal = new AbortController().signal) =>
    void list.until(isSo, signal).then(() => over.push(name));
  wait('at once', () => true);
  wait('one', () => count >= 1);
  wait('two', () => count >= 2);
  wait('stopped', () => false, stop.signal);
  wait('stopped before', () => false, AbortSignal.abort());
  await settle();
  expect(over).toEqual(['at once', 'stopped before']);
  count = 1;
  list.wake();
  await settle();
  expect(over.slice(2)).toEqual(['one']);
  stop.abort();
  await settle();
  expect(over.slice(3)).toEqual(['stopped']);
  count = 2;
  list.wake();
  await settle();
  expect(over.slice(4)).toEqual(['two']);
});
