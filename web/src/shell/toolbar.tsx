// Controls of a tab.

import type {ComponentChildren} from 'preact';

export const Toolbar = ({name, children}: {name: string; children: ComponentChildren}) =>
  <div class="toolbar" role="toolbar" aria-label={name}>{children}</div>;

export function Choice({label, value, options, onChange}: {label: string; value: string; options: [value: string, title: string][]; onChange: (value: string) => void}) {
  return <label>{label} <select value={value} data-choice={label} disabled={options.length < 2} onChange={event => onChange(event.currentTarget.value)}>
    {options.map(([key, title]) => <option key={key} value={key}>{title}</option>)}
  </select></label>;
}

export const Check = ({label, checked, title, onChange}: {label: string; checked: boolean; title?: string; onChange: (checked: boolean) => void}) =>
  <label title={title}><input type="checkbox" checked={checked} onChange={event => onChange(event.currentTarget.checked)} /> {label}</label>;
