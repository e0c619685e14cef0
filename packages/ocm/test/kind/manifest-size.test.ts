import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { excessiveSizeBytes, manifestSizeBytes } from '../../src/kind/manifest-config.ts';

const manifest = fc
  .dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }))
  .map((object) => object as unknown as KubeObject);

describe('excessiveSizeBytes', () => {
  it('tells the exact size of what is over the limit, and nothing of what is not', () => {
    fc.assert(
      fc.property(fc.array(manifest, { minLength: 1, maxLength: 3 }), (manifests) => {
        const bytes = manifests.reduce((sum, object) => sum + manifestSizeBytes(object), 0);
        expect(excessiveSizeBytes(manifests, bytes - 1)).toBe(bytes);
        expect(excessiveSizeBytes(manifests, bytes)).toBeUndefined();
      }),
    );
  });

  it.each([
    { name: 'control characters, six bytes each', text: '\u0001'.repeat(1000), bytes: 6000 },
    { name: 'three bytes in UTF-8', text: '\u20ac'.repeat(1000), bytes: 3000 },
    { name: 'half a surrogate pair, six bytes each', text: '\ud800'.repeat(1000), bytes: 6000 },
  ])('$name', ({ text, bytes }) => {
    const manifests = [{ data: text } as unknown as KubeObject];
    const whole = bytes + '{"data":""}'.length + 1 + 2;
    expect(excessiveSizeBytes(manifests, whole - 1)).toBe(whole);
    expect(excessiveSizeBytes(manifests, whole)).toBeUndefined();
  });
});
