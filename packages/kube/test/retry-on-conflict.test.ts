import { expect, it } from 'vitest';
import { ConflictError, InputError } from '@berth/runtime/errors';
import { retryOnConflict } from '../src/create-if-absent.ts';

const conflict = new ConflictError('was changed', { code: 'kube.conflict', subject: 'Secret a/b' });
const refused = new InputError('is refused', { code: 'kube.forbidden', subject: 'Secret a/b' });

function failing(errors: readonly Error[]): { readonly run: () => Promise<number>; calls: number } {
  const counted = {
    calls: 0,
    run: async () => {
      const error = errors[counted.calls++];
      if (error !== undefined) throw error;
      return counted.calls;
    },
  };
  return counted;
}

it.each([
  { name: 'the first attempt', errors: [], calls: 1 },
  { name: 'an attempt after conflicts', errors: [conflict, conflict], calls: 3 },
  { name: 'the fifth attempt', errors: Array.from({ length: 4 }, () => conflict), calls: 5 },
])('returns the result of $name', async ({ errors, calls }) => {
  const counted = failing(errors);
  await expect(retryOnConflict(counted.run)).resolves.toBe(calls);
  expect(counted.calls).toBe(calls);
});

it.each([
  { name: 'a conflict after five attempts', errors: Array.from({ length: 6 }, () => conflict), calls: 5 },
  { name: 'another error at once', errors: [conflict, refused], calls: 2 },
])('throws $name', async ({ errors, calls }) => {
  const counted = failing(errors);
  await expect(retryOnConflict(counted.run)).rejects.toBe(errors[calls - 1]);
  expect(counted.calls).toBe(calls);
});
