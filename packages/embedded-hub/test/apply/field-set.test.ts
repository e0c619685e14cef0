import { describe, expect, it } from 'vitest';
import {
  FieldSetBuilder,
  fieldSetFromJson,
  fieldSetToJson,
  hasMember,
  isEmptySet,
  memberPaths,
} from '../../src/apply/field-set.ts';

describe('FieldsV1', () => {
  it('prints paths as people read them, members before what is below', () => {
    const set = fieldSetFromJson({
      'f:spec': {
        'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {} } },
        'f:tags': { 'v:"a"': {} },
        'f:zone': {},
      },
    });
    expect(memberPaths(set)).toEqual([
      '.spec.zone',
      '.spec.ports[port=80,protocol="TCP"]',
      '.spec.ports[port=80,protocol="TCP"].name',
      '.spec.tags[="a"]',
    ]);
  });

  it.each<{ name: string; json: unknown; back: unknown }>([
    { name: 'nothing', json: {}, back: {} },
    { name: 'not an object', json: 'x', back: {} },
    { name: 'values that are no objects', json: { 'f:a': 1, 'f:b': {} }, back: { 'f:b': {} } },
    {
      name: 'prototype names',
      json: JSON.parse('{"f:__proto__":{},"__proto__":{"f:x":{}}}'),
      back: JSON.parse('{"__proto__":{"f:x":{}},"f:__proto__":{}}'),
    },
  ])('reads and writes $name', ({ json, back }) => {
    expect(fieldSetToJson(fieldSetFromJson(json))).toEqual(back);
  });

  it('prints elements that are malformed as they are', () => {
    expect(memberPaths(fieldSetFromJson({ 'k:{': {}, 'k:1': {}, 'i:0': {}, x: {} }))).toEqual([
      '[0]',
      '[1]',
      '[{]',
      '[]',
    ]);
  });
});

describe('a look at FieldsV1', () => {
  it.each<{ json: unknown; holds: boolean }>([
    { json: {}, holds: false },
    { json: 'x', holds: false },
    { json: { '.': {} }, holds: false },
    { json: { 'f:a': 1, 'f:b': null }, holds: false },
    { json: { 'f:a': { 'f:b': 1 } }, holds: false },
    { json: { 'f:a': {} }, holds: true },
    { json: { 'f:a': { '.': {}, 'f:b': 1 } }, holds: true },
    { json: { 'f:a': { 'f:b': { 'f:c': 0 }, 'f:d': {} } }, holds: true },
  ])('sees a member in $json: $holds, as decoding does', ({ json, holds }) => {
    expect(hasMember(json)).toBe(holds);
    expect(isEmptySet(fieldSetFromJson(json))).toBe(!holds);
  });

  it('builds no node that holds nothing', () => {
    const root = new FieldSetBuilder();
    root.at('f:empty').at('f:below');
    expect(isEmptySet(root)).toBe(true);
    root.at('f:spec').at('f:ports').add('f:name');
    root.at('f:spec').add('f:zone');
    expect(fieldSetToJson(root)).toEqual({ 'f:spec': { 'f:ports': { 'f:name': {} }, 'f:zone': {} } });
  });
});
