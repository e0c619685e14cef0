import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { previewVerdict } from '../core/preview/comment/preview-outcome.ts';
import type { ReportedPlan } from '../core/preview/report/report-page.ts';
import { reportSections } from '../core/preview/report/report-sections.ts';
import { useAnswer } from './answers.ts';
import { html } from './html.ts';

/** Signs that every font has. */
const SIGNS = { unchanged: '✓', changes: '→', stopped: '■', failed: '×' } as const;

/** `/change?pr=12`, `?drain=C`, `?lose=region:eu`, `?add=3`: what a merge, or an assumption, would do. The sections are the report's. */
export function ChangeScreen({ query }: { readonly query: URLSearchParams }): ComponentChildren {
  const isAsked = query.size > 0;
  // A what-if is an answer of one moment. It is asked again when somebody asks.
  const { data, problem, isLoading } = useAnswer<ReportedPlan>(
    isAsked ? `/change?${query.toString()}` : undefined,
    false,
  );
  const isMerge = query.has('pr');
  const body = useMemo(() => data && bodyOf(data), [data]);
  const heading = data?.pullRequest?.title ?? data?.subject ?? [...query.values()].join(', ');
  return html`<h1>${isMerge ? '' : html`<small>What if </small>`}${heading}${isMerge ? '' : html`<small>?</small>`}</h1>
    ${data?.pullRequest === undefined ? '' : html`<p class="origin"><${Origin} of=${data} /></p>`}
    ${isAsked ? '' : html`<p>Type <code>drain NAME</code>, <code>lose region:eu</code>, <code>add 3</code> or <code>pr 12</code> into the search box.</p>`}
    ${isLoading ? html`<p class="quiet" role="status">Deciding every placement again …</p>` : ''}
    ${problem === undefined ? '' : html`<p class="verdict failed">${problem}</p>`}
    ${
      body === undefined
        ? ''
        : html`<p class="verdict ${body.level}" role="status"><span aria-hidden="true">${SIGNS[body.level]}</span> ${body.text}</p>
      <div class="report" dangerouslySetInnerHTML=${{ __html: body.sections }} />`
    }`;
}

function bodyOf({ outcome, approvals }: ReportedPlan) {
  return {
    ...previewVerdict(outcome, approvals),
    sections: reportSections(outcome, { approvals }).join('\n'),
  };
}

function Origin({ of: { subject, pullRequest } }: { readonly of: ReportedPlan }): ComponentChildren {
  const { url, authorName = '' } = pullRequest ?? {};
  const isWeb = url !== undefined && /^https?:\/\//i.test(url);
  return html`${isWeb ? html`<a href=${url} rel="noreferrer">${subject}</a>` : subject}${authorName === '' ? '' : ` by ${authorName}`}`;
}
