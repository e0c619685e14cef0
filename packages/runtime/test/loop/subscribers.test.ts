import { expect, it } from 'vitest';
import { Subscribers } from '../../src/loop/subscribers.ts';

it('tells all in the order of their subscriptions, and waits for those that are not done', async () => {
  const events = new Subscribers<string>();
  const seen: string[] = [];
  let finish: () => void = () => undefined;
  events.subscribe(async (event) => {
    seen.push(`first ${event}`);
    await new Promise<void>((resolve) => (finish = resolve));
    seen.push('first is done');
  });
  events.subscribe((event) => void seen.push(`second ${event}`));
  const told = events.emit('commit').then(() => seen.push('told'));
  expect(seen).toEqual(['first commit', 'second commit']);
  finish();
  await told;
  expect(seen.slice(2)).toEqual(['first is done', 'told']);
});

it('gives an error of a listener to the one that tells', () => {
  const events = new Subscribers<string>();
  events.subscribe(() => {
    throw new Error('no room');
  });
  expect(() => events.emit('commit')).toThrow('no room');
});
