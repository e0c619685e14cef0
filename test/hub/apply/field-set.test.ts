import { describe, expect, it } from 'vitest';
import { fieldSetFromJson, fieldSetToJson, memberPaths } from '../../../src/hub/apply/field-set.ts';

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
