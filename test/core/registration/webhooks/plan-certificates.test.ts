import { expect, it } from 'vitest';
import {
  type StoredCertificates,
  planCertificates,
} from '../../../../src/core/registration/webhooks/plan-certificates.ts';

const DAY_MS = 86_400_000;
const NOW = 10_000 * DAY_MS;
const NONE: StoredCertificates = {
  authority: undefined,
  next: undefined,
  last: undefined,
  serving: undefined,
};
/** Made so many days ago, and valid for so many more. */
const aged = (ageDays: number, leftDays: number) => ({
  fromMs: NOW - ageDays * DAY_MS,
  untilMs: NOW + leftDays * DAY_MS,
});
const [authority, serving] = [aged(100, 3_550), aged(10, 80)];

it.each<{ name: string; stock: StoredCertificates; want: string | undefined }>([
  { name: 'nothing is there', stock: NONE, want: 'begin' },
  { name: 'an authority alone', stock: { ...NONE, authority }, want: 'issue' },
  { name: 'both are good', stock: { ...NONE, authority, serving }, want: undefined },
  { name: 'the certificate ends soon', stock: { ...NONE, authority, serving: aged(61, 29) }, want: 'issue' },
  {
    name: 'the authority ends in a year',
    stock: { ...NONE, authority: aged(3_300, 350), serving },
    want: 'announce',
  },
  {
    name: 'the next one was announced an hour ago',
    stock: { ...NONE, authority: aged(3_300, 350), next: aged(1 / 24, 3_650), serving },
    want: undefined,
  },
  {
    name: 'the next one was announced a day ago',
    stock: { ...NONE, authority: aged(3_300, 350), next: aged(1, 3_649), serving },
    want: 'change-over',
  },
  {
    name: 'the next one signs, its certificates are not there',
    stock: { ...NONE, authority: aged(1, 3_649), last: aged(3_301, 349) },
    want: 'issue',
  },
  {
    name: 'the last one is trusted for a day',
    stock: { ...NONE, authority: aged(1.5, 3_649), last: aged(3_301, 349), serving },
    want: undefined,
  },
  {
    name: 'and no longer',
    stock: { ...NONE, authority: aged(2, 3_648), last: aged(3_302, 348), serving },
    want: 'forget-last',
  },
  { name: 'the authority has ended', stock: { ...NONE, authority: aged(3_650, -1), serving }, want: 'begin' },
  {
    name: 'it has ended, and the next one is there',
    stock: { ...NONE, authority: aged(3_650, -1), next: aged(0.1, 3_650), serving },
    want: 'change-over',
  },
])('$name: $want', ({ stock, want }) => {
  expect(planCertificates(stock, NOW)).toBe(want);
});
