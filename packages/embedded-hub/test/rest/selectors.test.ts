import { describe, expect, it } from 'vitest';
import {
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  selectedName,
} from '../../src/request/selectors.ts';

const object = (labels: Record<string, string>) => ({ metadata: { name: 'n', labels } });

describe('label selectors', () => {
  it.each<[string, Record<string, string>, boolean]>([
    ['', {}, true],
    ['a=1', { a: '1' }, true],
    ['a==1', { a: '2' }, false],
    ['a!=1', {}, true],
    ['a!=1', { a: '1' }, false],
    ['a in (1,2)', { a: '2' }, true],
    ['a in (1, 2),b', { a: '2' }, false],
    ['a notin (1,2)', {}, true],
    ['a notin (1,2)', { a: '1' }, false],
    ['a', { a: '' }, true],
    ['!a', { a: '' }, false],
    ['!a', {}, true],
    ['a=', { a: '' }, true],
    ['a in (,x)', { a: '' }, true],
    ['n>5', { n: '6' }, true],
    ['n<5', { n: '6' }, false],
    ['n>5', { n: 'x' }, false],
    ['example.com/a=1,b!=2', { 'example.com/a': '1' }, true],
    ['constructor', {}, false],
    ['toString', {}, false],
    ['  ', {}, true],
    ['a = b , env in (dev, prod)', { a: 'b', env: 'prod' }, true],
    ['! a', { a: 'b' }, false],
    ['n>6,n<8', { n: '7' }, true],
    ['n>9007199254740992', { n: '9007199254740993' }, true],
    ['a>1', { a: 'b' }, false],
    ['a=,b', { a: '', b: '' }, true],
    ['a in ()', { a: '' }, true],
    ['in=x', { in: 'x' }, true],
    ['in in (x)', { in: 'x' }, true],
  ])('%s on %j is %s', (selector, labels, want) => {
    expect(matchesLabels(parseLabelSelector(selector), object(labels))).toBe(want);
  });

  it.each([
    'a===b',
    'a in',
    'a in (',
    'a in (b',
    'a,',
    '=a',
    'a b',
    'a/b/c=1',
    'a=b c',
    '(a)',
    'n>x',
    '-a=1',
    ',a',
    'a in b',
    '!a=b',
    '!',
    'a=b=c',
    'a in (b))',
    'a!b',
    'a=(',
    'a..b/c=1',
    '__proto__',
    `${'x'.repeat(64)}=1`,
  ])('%s is refused', (selector) => {
    expect(() => parseLabelSelector(selector)).toThrow('unable to parse requirement');
  });
});

describe('field selectors', () => {
  it.each<[string, boolean]>([
    ['metadata.name=n', true],
    ['metadata.name==n', true],
    ['metadata.name!=n', false],
    ['metadata.namespace=', true],
    ['metadata.name=n,metadata.namespace=x', false],
    ['metadata.__proto__.x=1', false],
  ])('%s is %s', (selector, want) => {
    expect(matchesFields(parseFieldSelector(selector), object({}))).toBe(want);
  });

  it('keeps escaped commas, and names the one object', () => {
    expect(parseFieldSelector('a.b=x\\,y\\=z')).toEqual([{ path: 'a.b', equals: true, value: 'x,y=z' }]);
    expect(selectedName(parseFieldSelector('spec.x=1,metadata.name=one'))).toBe('one');
    expect(selectedName(parseFieldSelector('metadata.name!=one'))).toBe('');
  });

  it.each(['a', 'a=b=c', '=x'])('%s is refused', (selector) => {
    expect(() => parseFieldSelector(selector)).toThrow('invalid selector');
  });
});
