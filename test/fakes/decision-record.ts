import type { DecisionRecord } from '../../src/core/publish/record/decision-record.ts';

/** The record of a decision in which nothing happened, but for what a test says of it. */
export function decisionRecord(said: Partial<DecisionRecord>): DecisionRecord {
  return {
    hash: '0000',
    placement: 'team-a/web',
    publishedAt: '2026-01-01T00:00:00Z',
    engineVersion: 'test',
    commit: null,
    inventoryRevision: 1,
    inputs: '',
    decided: '{}',
    clusters: 0,
    published: null,
    added: [],
    removed: [],
    released: null,
    ...said,
  };
}
