//! A table: the records of its cells, and its text in Markdown.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use kvrm_records::{Kind, Record, Value};

use super::definition::{Column, Conditions, Row, Table, has};
use super::number;

/// A row of a table with its records.
#[derive(Debug)]
pub(super) struct Cells<'a> {
    pub(super) labels: Vec<String>,
    /// The records by column; `None` if an optional column has no record.
    pub(super) cells: Vec<Option<&'a Record>>,
}

/// Finds the records of all cells.
pub(super) fn rows<'a>(table: &Table, records: &'a [Record]) -> Result<Vec<Cells<'a>>> {
    let Table { name, labels, .. } = table;
    let automatic;
    let rows = match &table.rows_by {
        Some(parameter) => {
            ensure!(table.rows.is_empty(), "table {name} has rows and rows_by; it can have one of them");
            automatic = rows_by(table, parameter, records);
            &automatic
        }
        None => &table.rows,
    };
    ensure!(!rows.is_empty(), "table {name} has no rows");
    let cells = |row: &Row| {
        let found = row.label.len();
        ensure!(
            found == labels.len(),
            "table {name}, row {:?}: it has {found} labels, expected {}",
            row.label,
            labels.len()
        );
        let cell = |column: &Column| {
            let record = find(
                records,
                row.kind.unwrap_or(table.kind),
                [&table.conditions, &row.conditions, &column.conditions],
            )
            .filter(|record| !column.optional || shown(record, column).is_some());
            let place = || format!("table {name}, row {:?}, column {:?}", row.label.join(", "), column.head);
            if !column.optional {
                let record = record.with_context(|| format!("{}: no record of {}", place(), table.file))?;
                shown(record, column).with_context(|| {
                    format!("{}: its record has neither a figure nor a parameter `{}`", place(), column.show)
                })?;
            }
            Ok(record)
        };
        Ok(Cells { labels: row.label.clone(), cells: table.columns.iter().map(cell).collect::<Result<_>>()? })
    };
    rows.iter().map(cells).collect()
}

/// Returns the last record of a kind that satisfies all conditions.
fn find<'a>(records: &'a [Record], kind: Kind, conditions: [&Conditions; 3]) -> Option<&'a Record> {
    let matches = |record: &&Record| record.kind == kind && conditions.iter().all(|all| has(record, all));
    records.iter().rfind(matches)
}

/// Returns a row for each value of a parameter, in the order of first appearance.
fn rows_by(table: &Table, parameter: &str, records: &[Record]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for record in records.iter().filter(|record| record.kind == table.kind && has(record, &table.conditions))
    {
        let Some(value) = record.parameters.get(parameter) else { continue };
        let conditions: Conditions = [(parameter.to_owned(), value.clone())].into();
        if !rows.iter().any(|row| row.conditions == conditions) {
            let label = vec![format!("`{}`", value.to_string().replace('|', "\\|"))];
            rows.push(Row { label, kind: None, conditions });
        }
    }
    rows
}

/// Returns the text of a record's cell in a column, if the record has the figure or parameter.
fn shown(record: &Record, column: &Column) -> Option<String> {
    let formatted = |value: f64| number::format(value / column.divide, column.digits);
    let figure = record.figures.get(&column.show).map(|figure| formatted(figure.median));
    figure.or_else(|| {
        Some(match record.parameters.get(&column.show)? {
            Value::Number(value) => formatted(*value),
            Value::Text(text) => text.replace('|', "\\|"),
        })
    })
}

/// Returns the table in Markdown, followed by the origin of its figures.
pub(super) fn render(table: &Table, rows: &[Cells<'_>]) -> String {
    let Table { labels, columns, .. } = table;
    let heads = labels.iter().chain(columns.iter().map(|column| &column.head));
    let mut text = line(heads.map(|head| &**head));
    text += &line(labels.iter().map(|_| "---").chain(columns.iter().map(|_| "---:")));
    for row in rows {
        let cells: Vec<String> = (row.cells.iter().zip(columns))
            .map(|(record, column)| record.and_then(|record| shown(record, column)).unwrap_or_default())
            .collect();
        text += &line(row.labels.iter().chain(&cells).map(|cell| &**cell));
    }
    for (number, origin) in origins(rows).iter().enumerate() {
        text += if number == 0 { "\n" } else { "" };
        text += origin;
        text.push('\n');
    }
    text
}

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::from("|");
    for cell in cells {
        text += &if cell.is_empty() { " |".to_owned() } else { format!(" {cell} |") };
    }
    text.push('\n');
    text
}

/// Returns a sentence for each machine and adapter, with the days and commits of its measurements.
fn origins(rows: &[Cells<'_>]) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for record in rows.iter().flat_map(|row| row.cells.iter().flatten()) {
        let adapter = record.adapter.as_ref();
        let adapter = adapter
            .map(|adapter| format!("{} ({}, {}), host ", adapter.name, adapter.backend, adapter.driver));
        let place = format!("{}{}", adapter.unwrap_or_default(), record.host);
        let times = places.entry(place).or_default();
        let time = time(record);
        if !times.contains(&time) {
            times.push(time);
        }
    }
    let sentence = |(place, mut times): (String, Vec<String>)| {
        times.sort_unstable();
        format!("Measured on {place}: {}.", times.join("; "))
    };
    places.into_iter().map(sentence).collect()
}

/// Returns the day and the commit of a record.
fn time(record: &Record) -> String {
    let day = record.date.split('T').next().unwrap_or_default();
    let commit = record.commit.as_ref().map_or_else(
        || "at an unknown commit".to_owned(),
        |commit| {
            let short = commit.id.get(..7).unwrap_or(&commit.id);
            format!("at `{short}`{}", if commit.dirty { " with uncommitted changes" } else { "" })
        },
    );
    let transcribed = if record.transcribed { ", transcribed" } else { "" };
    let note = record.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
    format!("{day} {commit}{transcribed}{note}")
}
