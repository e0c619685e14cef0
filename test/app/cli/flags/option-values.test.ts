import { describe, expect, it } from 'vitest';
import {
  durationOrNone,
  durationOrSeconds,
  oneOf,
  positiveDuration,
  wholeNumber,
} from '../../../../src/app/cli/flags/option-values.ts';
import { runCli } from '../../../../src/app/cli/program.ts';
import { makeCliIo } from '../../cli-harness.ts';

describe('the value of an option', () => {
  it.each<{ name: string; read: () => unknown; want: unknown }>([
    { name: 'one of some', read: () => oneOf('--sync', 'apply', ['apply', 'observe']), want: 'apply' },
    { name: 'a duration', read: () => positiveDuration('--poll', '1m30s'), want: 90_000 },
    { name: 'a duration that may be none', read: () => durationOrNone('--deletion-window', '0'), want: 0 },
    { name: 'a number', read: () => wholeNumber('--workers', '3', 1), want: 3 },
  ])('is $name', ({ read, want }) => expect(read()).toBe(want));

  it.each<{ read: () => unknown; want: string }>([
    {
      read: () => oneOf('--sync', 'push', ['apply', 'observe']),
      want: '--sync: got "push", expected apply or observe',
    },
    {
      read: () => oneOf('--audit', '', ['off', 'writes', 'all']),
      want: '--audit: got "", expected off, writes or all',
    },
    {
      read: () => positiveDuration('--poll', '0s'),
      want: '--poll: got "0s", expected a positive duration such as 10s, 5m or 1h30m',
    },
    {
      read: () => durationOrNone('--deletion-window', '-1m'),
      want: '--deletion-window: got "-1m", expected a duration such as 10s, 5m or 1h30m, or 0',
    },
    {
      read: () => wholeNumber('--workers', '2.5', 1),
      want: '--workers: got "2.5", expected a whole number of at least 1',
    },
    {
      read: () => wholeNumber('--workers', '1e3', 1),
      want: '--workers: got "1e3", expected a whole number of at least 1',
    },
    {
      read: () => wholeNumber('--certificate-days', '10000', 1, 9_999),
      want: '--certificate-days: got "10000", expected a whole number from 1 to 9999',
    },
    {
      read: () => durationOrSeconds('--timeout', '0'),
      want: '--timeout: got "0s", expected a positive duration such as 10s, 5m or 1h30m',
    },
  ])('is refused: $want', ({ read, want }) => {
    expect(read).toThrow(expect.objectContaining({ name: 'InputError', code: 'cli.option', message: want }));
  });

  it.each([
    { args: ['agent'], want: '--hub-kubeconfig: is missing, expected the kubeconfig file of the hub' },
    {
      args: ['agent', '--clusters', 'a.yaml', '--cluster-name', 'a'],
      want: '--clusters: already names clusters and hubs, expected it without',
    },
    { args: ['serve'], want: '--repo: got neither, expected either --repo or --config' },
    {
      args: ['serve', '--repo', '/x', '--config', 'a.yaml'],
      want: '--repo: got both, expected either',
    },
    { args: ['hub', '--data', '/nonexistent', '--log-level', 'loud'], want: '--log-level: got "loud"' },
    {
      args: ['create', 'work', 'web', '-f', 'x', '--placement', 'a'],
      want: '--placement: got "a", expected namespace/name',
    },
    {
      args: ['create', 'work', 'web', '-f', 'x'],
      want: '--clusters, --placement: expected exactly one of the two',
    },
    { args: ['validate', '.', '--source', 'a'], want: '--source: got it alone, expected --config' },
    {
      args: ['release', 'a/b', '--token', 'xyz'],
      want: '--token: got "xyz", expected 12 hexadecimal digits',
    },
  ])('berth $args', async ({ args, want }) => {
    const { io, stderr } = makeCliIo();
    expect(await runCli(args, io)).toBe(1);
    expect(stderr()).toContain(want);
  });
});
